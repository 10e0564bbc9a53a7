"""The short words of every day: `groundplan add`, `next`, `take`, `done`, `ls`, …, also as `pl`.

They run before typer and rich are loaded, load only the operations that they call, and send whole ids.
"""
