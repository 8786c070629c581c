"""Resumable uploads by the tus protocol: a file arrives in parts, over as many connections as it takes."""
