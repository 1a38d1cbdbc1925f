import { expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidInput } from '../../src/domain/errors.ts'
import { parseInput } from '../../src/domain/parse.ts'

const schema = z.object({
  cpu: z.number().min(1, 'must be at least 1').optional(),
  workdir: z.string().max(100, 'must have at most 100 characters').regex(/^\//, 'must be an absolute path').optional(),
})

test.each([
  [{ cpu: 0.5 }, ['spec.cpu: Must be at least 1 (given: 0.5)']],
  [{ workdir: 'rel' }, ['spec.workdir: Must be an absolute path (given: "rel")']],
  [{ workdir: 'x'.repeat(65) }, ['spec.workdir: Must be an absolute path']],
  [{ workdir: `/${'x'.repeat(100)}` }, ['spec.workdir: Must have at most 100 characters']],
])('the refusal of %j contains the field, the rule and a short value', (input, messages) => {
  expect(refusalOf(input).map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual(messages)
})

function refusalOf(input: unknown) {
  try {
    parseInput(schema, input, ['spec'])
  } catch (error) {
    if (error instanceof InvalidInput) return error.violations
    throw error
  }
  throw new Error('The input was taken')
}
