"""What a pipeline did, as documented JSON and as one HTML file to look at."""
