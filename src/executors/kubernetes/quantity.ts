const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

type Quantity = string | number

function parseQuantity(quantity: Quantity): number {
  const [, digits = '', unit = ''] = String(quantity).match(/^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkKMGTPE]?i?)$/) ?? []
  const factor = factors[unit]
  if (digits === '' || factor === undefined) throw new Error(`Not a quantity of Kubernetes: ${quantity}`)
  return Number(digits) * factor
}

/** Removes rounding errors of binary fractions: 0.1 is 100 milli, not 100.00000000000001. */
const exact = (value: number) => Number(value.toPrecision(15))

/** Rounds down, for amounts that a node has. */
export const floorQuantity = (quantity: Quantity, unit = 1) => Math.floor(exact(parseQuantity(quantity) / unit))
/** Rounds up, for amounts that a pod uses. */
export const ceilQuantity = (quantity: Quantity, unit = 1) => Math.ceil(exact(parseQuantity(quantity) / unit))

export const milli = 1e-3
