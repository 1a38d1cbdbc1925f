import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { Prisma } from '../../src/platform/generated/client.ts'

/** Values of `evaluate.ts`: JavaScript values, and values that are known only at run time. */
export type Value = unknown

/** A value without a text. Converting it to a text throws an error that names its origin. */
export class Unknown {
  readonly #from: Node | string
  constructor(from: Node | string) {
    this.#from = from
  }
  get origin(): string {
    return typeof this.#from === 'string' ? this.#from : this.#from.getText()
  }
  [Symbol.toPrimitive](): never {
    throw new NotKnown(this)
  }
}

/** Thrown often, and caught by the evaluator. Not an Error, because errors record a stack trace. */
export class NotKnown {
  readonly value: Unknown
  constructor(value: Unknown) {
    this.value = value
  }
  get message(): string {
    return `${this.value.origin} is not known`
  }
}

/** Thrown by a branch that always throws, which has no result. */
export class Refused extends Error {
  override name = 'Refused'
}

const refused = new Unknown('what a branch refused')

export const isRefused = (value: Value): boolean => value === refused

export function unlessRefused(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refused) return refused
    throw error
  }
}

export const isUnknown = (value: Value): value is Unknown => value instanceof Unknown

/** Marks an object that may have more members. */
const open = Symbol('open')

/** Makes an object of which `rest` may have set any member. */
export const extended = (object: object, rest: Value): object =>
  Object.assign(object, isUnknown(rest) ? { [open]: rest } : rest)

export function readMember(object: Value, key: string | number, from: Node | string): Value {
  if (isUnknown(object)) return object
  if (object === null || object === undefined) return new Unknown(from)
  const members = object as Record<string | number | symbol, Value>
  return members[key] === undefined && members[open] ? new Unknown(from) : members[key]
}

/** Values of names of the language and of the generated model. */
export const natives: Readonly<Record<string, Value>> = {
  Object,
  Math,
  JSON,
  String,
  Number,
  Array,
  Boolean,
  Prisma,
  undefined,
}

export const makers: Readonly<Record<string, new (items: never) => Value>> = { Map, Set }

/** Binary operators for known operands. */
export const operators: Partial<Record<SyntaxKind, (a: number, b: number) => Value>> = {
  [SyntaxKind.PlusToken]: (a, b) => a + b,
  [SyntaxKind.MinusToken]: (a, b) => a - b,
  [SyntaxKind.AsteriskToken]: (a, b) => a * b,
  [SyntaxKind.SlashToken]: (a, b) => a / b,
  [SyntaxKind.EqualsEqualsEqualsToken]: (a, b) => a === b,
  [SyntaxKind.ExclamationEqualsEqualsToken]: (a, b) => a !== b,
  [SyntaxKind.EqualsEqualsToken]: (a, b) => (a ?? null) === (b ?? null),
  [SyntaxKind.LessThanToken]: (a, b) => a < b,
  [SyntaxKind.LessThanEqualsToken]: (a, b) => a <= b,
  [SyntaxKind.GreaterThanToken]: (a, b) => a > b,
  [SyntaxKind.GreaterThanEqualsToken]: (a, b) => a >= b,
}
