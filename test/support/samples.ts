import { readSamples, type SamplePoint } from '../../src/domain/usage/run-samples.ts'
import type { Sql } from '../../src/platform/tx.ts'

/** The samples of one run, as the API shows them. */
export async function readRunSamples(sql: Sql, runId: string, points: number): Promise<SamplePoint[]> {
  const rows = (await readSamples(sql, [runId], points)).get(runId) ?? []
  return rows.map(({ runId: _, ...point }: SamplePoint & { runId?: string }) => point)
}
