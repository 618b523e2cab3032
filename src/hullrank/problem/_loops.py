"""The pass over the rows of an interval problem that the certificate needs; arrays only (see ``RowLayout.table``)."""

from typing import Any

from hullrank._jit import njit

Array = Any


@njit()
def move_multipliers(
    table: Array, sign: Array, largest: float, cost: Array, a: Array, tau: Array, coef: Array, per_group: Array
) -> None:
    """Move the multipliers a (divided by the cost of their slack) by tau * room.

    A slack has the room v = ``largest`` - sum a, half of it for either of two rows that share it, and a row the room
    min(a, v). Fills coef[k] = sum of sign * alpha over the sample's rows and per_group = (sums of alpha, sums of
    cost * room).
    """
    for k in range(len(coef)):
        coef[k] = 0.0
    for g in range(len(sign)):
        per_group[0, g] = 0.0
        per_group[1, g] = 0.0
    for b in range(len(table)):
        start, length, g, h = table[b, 0], table[b, 1], table[b, 2], table[b, 3]
        row, partner_row, first = table[b, 4], table[b, 5], table[b, 6]
        alphas, rooms = per_group[0, g], per_group[1, g]  # local sums stay in registers, which is faster
        if h < 0:
            for i in range(length):
                c, x = cost[first + i], a[row + i]
                x += tau[g] * min(x, max(0.0, largest - x))
                a[row + i] = x
                alphas += c * x
                rooms += c * min(x, max(0.0, largest - x))
                coef[start + i] += sign[g] * c * x
        else:
            partner_alphas, partner_rooms = per_group[0, h], per_group[1, h]
            for i in range(length):
                c, x, y = cost[first + i], a[row + i], a[partner_row + i]
                room = 0.5 * max(0.0, largest - x - y)
                x += tau[g] * min(x, room)
                y += tau[h] * min(y, room)
                room = 0.5 * max(0.0, largest - x - y)
                a[row + i], a[partner_row + i] = x, y
                alphas += c * x
                rooms += c * min(x, room)
                partner_alphas += c * y
                partner_rooms += c * min(y, room)
                coef[start + i] += c * (sign[g] * x + sign[h] * y)
            per_group[0, h], per_group[1, h] = partner_alphas, partner_rooms
        per_group[0, g], per_group[1, g] = alphas, rooms
