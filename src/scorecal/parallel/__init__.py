"""Who does the work: threads, processes, a cluster; and progress bars."""
