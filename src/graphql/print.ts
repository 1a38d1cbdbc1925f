import { writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { buildSchema } from './schema.ts'

/** The published schema as text. Run as a program it rewrites schema.graphql: `npm run schema`. */
export const printedSchema = () => `${printSchema(lexicographicSortSchema(buildSchema()))}\n`

if (import.meta.main) writeFileSync(new URL('../../schema.graphql', import.meta.url), printedSchema())
