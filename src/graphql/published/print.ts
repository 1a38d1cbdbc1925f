import { writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from '../schema/schema.ts'

/** The published schema as text. Run as a program it rewrites schema.graphql: `npm run codegen`. */
export const printPublishedSchema = () => `${printSchema(lexicographicSortSchema(schema))}\n`

if (import.meta.main) writeFileSync(new URL('../../../schema.graphql', import.meta.url), printPublishedSchema())
