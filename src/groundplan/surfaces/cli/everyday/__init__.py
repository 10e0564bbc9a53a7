"""The words of every day: `groundplan add`, `next`, `take`, `done`, `ls`, …, also as `pl`."""
