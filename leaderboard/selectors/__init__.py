"""Reads, one module a page: plain frozen values, ready to print, in a fixed number of queries a page."""
