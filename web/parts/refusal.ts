import type { Refusal } from './form.tsx'

export type Refused<Result> = Extract<Result, { __typename: `${string}Problem` }>

/** The mutation was refused: nothing was changed. */
export const isRefused = <Result extends { __typename: string }>(result: Result): result is Refused<Result> =>
  result.__typename.endsWith('Problem')

interface Problem {
  message: string
  violations?: readonly { path: readonly string[]; message: string }[]
}

/** The refusal as forms show it. */
export const toRefusal = ({ message, violations = [] }: Problem): Refusal => ({
  message,
  violations: violations.map((each) => ({ path: each.path.join('.'), message: each.message })),
})
