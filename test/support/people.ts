import { ask, data, type Json, type Result } from './client.ts'

/** A caller with a token. */
export interface Person {
  readonly token: string
  ask(query: string, variables?: object): Promise<Result & { status: number }>
  /** Returns the data of a query that must succeed. */
  data(query: string, variables?: object): Promise<Record<string, Json>>
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const personWith = (url: string, token: string): Person => ({
  token,
  ask: (query, variables) => ask(url, query, variables, token),
  data: (query, variables) => data(url, query, variables, token),
})

/** Returns the result of a mutation with a result union. */
export async function mutate(
  person: Person,
  field: string,
  { input, wanted = '' }: { input: object; wanted?: string },
): Promise<Json> {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`
  const query = `mutation ($input: ${type}Input!) { ${field}(input: $input) { __typename
    ... on Problem {
      code message retryable
      ... on ForbiddenProblem { requiredPermission requiredScope requiredLevel }
      ... on InvalidInputProblem { violations { path message } }
    } ${wanted && `... on ${type}Success { ${wanted} }`} } }`
  return (await person.data(query, { input }))[field]
}
