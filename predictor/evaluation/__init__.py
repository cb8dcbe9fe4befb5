"""How good the advice is on programs that were held out."""
