import type { JobSpecInput } from '../generated/graphql.ts'

/** Opens the form with a spec. It is in the fragment, which a browser sends to no server. */
export const linkToSubmit = (spec: JobSpecInput, from?: string) => ({
  to: '/jobs/new' as const,
  search: { from },
  hash: `spec=${encodeURIComponent(JSON.stringify(spec))}`,
})
