import { type Answer, type Json, type Result, send } from './client.ts'

/** A caller with a token. */
export interface Person {
  readonly token: string
  ask(query: string, variables?: object): Promise<Result & { status: number }>
  /** The data of a query that must succeed. */
  data(query: string, variables?: object): Promise<Record<string, Json>>
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export function personWith(url: string, token: string): Person {
  const headers = { 'content-type': 'application/json', ...(token && bearer(token)) }
  const ask = async (query: string, variables: object = {}) => {
    const answer: Answer = await send(url, { headers, body: JSON.stringify({ query, variables }) })
    return { status: answer.status, ...(JSON.parse(answer.text) as Result) }
  }
  return {
    token,
    ask,
    async data(query, variables) {
      const { data, errors } = await ask(query, variables)
      if (errors || !data) throw new Error(JSON.stringify(errors))
      return data
    },
  }
}

/** The answer of a mutation with a result union. */
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
