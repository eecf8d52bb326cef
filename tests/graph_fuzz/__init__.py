"""gawee-fuzz: what it draws, that what is wrong is found, and a corpus."""
