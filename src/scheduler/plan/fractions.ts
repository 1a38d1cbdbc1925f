import type { Fraction } from './model.ts'

/** Exact: shares of 0.1 + 0.2 and of 0.3 are a tie. */
export const nothing: Fraction = { num: 0n, den: 1n }

export const compareFractions = (a: Fraction, b: Fraction): number => {
  const [left, right] = [a.num * b.den, b.num * a.den]
  return left < right ? -1 : left > right ? 1 : 0
}

const millionths = 1_000_000

/** Weights and parts are given with at most six digits after the point; what is less counts as one millionth. */
export const inMillionths = (value: number): bigint => BigInt(Math.max(1, Math.round(value * millionths)))

export const numberOf = ({ num, den }: Fraction): number => Number((num * BigInt(millionths)) / den) / millionths
