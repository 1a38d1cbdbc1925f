import type { Fraction } from './model.ts'

export const nothing: Fraction = { num: 0n, den: 1n }

export const compareFractions = (a: Fraction, b: Fraction): number => {
  const [left, right] = [a.num * b.den, b.num * a.den]
  return left < right ? -1 : left > right ? 1 : 0
}

export const millionths = 1_000_000

/** Weights and parts have at most six decimals; smaller values count as one millionth. */
export const toMillionths = (value: number): bigint => BigInt(Math.max(1, Math.round(value * millionths)))

export const toNumber = ({ num, den }: Fraction): number => Number((num * BigInt(millionths)) / den) / millionths
