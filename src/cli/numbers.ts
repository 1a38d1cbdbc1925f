import { InvalidArgumentError } from 'commander'

export function readWhole(given: string): number {
  const whole = wholeIn(given)
  if (whole === undefined) throw new InvalidArgumentError('Expected an integer from 0.')
  return whole
}

const wholeIn = (given: string) => (/^\d{1,15}$/.test(given) ? Number(given) : undefined)

export function readCount(given: string): number {
  const count = wholeIn(given)
  if (count === undefined || count < 1) throw new InvalidArgumentError('Expected an integer from 1.')
  return count
}

export function readAmount(given: string): number {
  const amount = Number(given)
  if (given.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('Expected a number without a unit, such as 4 or 0.5.')
  return amount
}

export const readUpTo = (max: number) => (given: string) => {
  const count = wholeIn(given)
  if (count === undefined || count < 1 || count > max)
    throw new InvalidArgumentError(`Expected an integer from 1 to ${max}.`)
  return count
}
