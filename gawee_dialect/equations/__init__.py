"""Index notation: the meaning of an operator as equations between elements of tensors.

    int s = 1, p = 0
    y[n,o,h] = sum(c,i) x[n,c,h*s+i-p] * k[o,c,i] + b[o]

Text is parsed (`parse`), its names are resolved (`program`), and for given shapes and parameters
its indices get their sizes (`instance`). What it means, costs and lowers to goes by that instance.
"""
