/** The machine of an engine, as the engine describes it. */
export interface EngineCheck {
  cpuMillis: number | null
  memoryBytes: number | null
  gpus: readonly { model: string; memoryGib: number; tensorCores: boolean; cuda: string[] }[]
  /** Repairs that the machine needs, as sentences. */
  troubles: readonly string[]
}

/** `refusal`: why the engine cannot be used, and the remedy. */
export type CheckEngine = (address: string) => Promise<EngineCheck | { refusal: string }>
