"""The power study: how often each test rejects predictions with known flaws."""
