"""What people look at: comparisons on a terminal and as a page. Nothing here measures anything."""
