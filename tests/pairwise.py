"""Few cases in place of a full product: every two values of two parameters meet in at least one of them."""

from itertools import combinations, product


def pairwise(*parameters):
    """Cases of parameters with the given values, by greed: each takes as many pairs as it can that none has had."""
    missing = {
        (i, a, j, b)
        for i, j in combinations(range(len(parameters)), 2)
        for a, b in product(range(len(parameters[i])), range(len(parameters[j])))
    }
    everything = list(product(*(range(len(values)) for values in parameters)))
    cases = []

    def new(case):
        return [pair for pair in missing if case[pair[0]] == pair[1] and case[pair[2]] == pair[3]]

    while missing:
        best = max(everything, key=lambda case: len(new(case)))
        missing.difference_update(new(best))
        cases.append(tuple(values[k] for values, k in zip(parameters, best, strict=True)))
    return cases
