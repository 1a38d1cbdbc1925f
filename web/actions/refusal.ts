import type { Refusal, Violation } from '../parts/form.tsx'

type Refused<Result> = Extract<Result, { __typename: `${string}Problem` }>

/** The mutation was refused: nothing was changed. */
export const isRefused = <Result extends { __typename: string }>(result: Result): result is Refused<Result> =>
  result.__typename.endsWith('Problem')

/** The refusal as forms show it. */
export const toRefusal = (problem: { message: string; violations?: readonly Violation[] }): Refusal => ({
  message: problem.message,
  violations: problem.violations ?? [],
})
