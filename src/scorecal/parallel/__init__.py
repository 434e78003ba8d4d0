"""Work in threads, in processes and on clusters; progress bars."""
