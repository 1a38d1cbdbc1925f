import { writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from '../schema/schema.ts'

/** Prints the published schema. `npm run codegen` runs this file to write schema.graphql. */
export const printPublishedSchema = () => `${printSchema(lexicographicSortSchema(schema))}\n`

if (import.meta.main) writeFileSync(new URL('../../../schema.graphql', import.meta.url), printPublishedSchema())
