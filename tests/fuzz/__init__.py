"""Campaigns that look for inputs on which scorecal is silently wrong, fails without a reason, or loses data."""
