"""The blocks of text below a picture: its assumptions and its waivers."""
