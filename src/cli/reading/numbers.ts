import { InvalidArgumentError } from 'commander'

const createReader = (min: number, max: number, expected: string) => (given: string) => {
  const whole = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
  if (!(whole >= min && whole <= max)) throw new InvalidArgumentError(`Expected an integer from ${expected}.`)
  return whole
}

export const readWhole = createReader(0, Number.POSITIVE_INFINITY, '0')
export const readCount = createReader(1, Number.POSITIVE_INFINITY, '1')
export const readUpTo = (max: number) => createReader(1, max, `1 to ${max}`)

export function readAmount(given: string): number {
  const amount = Number(given)
  if (given.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('Expected a number without a unit, such as 4 or 0.5.')
  return amount
}
