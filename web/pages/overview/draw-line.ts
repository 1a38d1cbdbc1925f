export const width = 240
export const height = 40
const tenth = 10
export const roundTenth = (value: number): number => Math.round(value * tenth) / tenth

/** Returns the points of a polyline over the whole width. */
export function drawLine(values: readonly number[], valueMax: number): string {
  const step = width / Math.max(1, values.length - 1)
  return values
    .map((value, i) => `${roundTenth(i * step)},${roundTenth(height - (value / (valueMax || 1)) * height)}`)
    .join(' ')
}
