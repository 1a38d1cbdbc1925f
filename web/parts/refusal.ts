import type { Refusal } from './form.tsx'

export type Refused<Result> = Extract<Result, { __typename: `${string}Problem` }>

/** true: the server refused the mutation and changed nothing. */
export const isRefused = <Result extends { __typename: string }>(result: Result): result is Refused<Result> =>
  result.__typename.endsWith('Problem')

interface Problem {
  message: string
  violations?: readonly { path: readonly string[]; message: string }[]
}

/** Converts a problem of the API to the refusal of a form. */
export const toRefusal = ({ message, violations = [] }: Problem): Refusal => ({
  message,
  violations: violations.map((each) => ({ path: each.path.join('.'), message: each.message })),
})
