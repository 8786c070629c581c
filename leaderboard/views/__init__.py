"""The public pages: fetch through a selector, render."""
