/** Description of a machine by its container engine. */
export interface EngineCheck {
  cpuMillis: number | null
  memoryBytes: number | null
  gpus: readonly { model: string; memoryGib: number; tensorCores: boolean; cuda: string[] }[]
  troubles: readonly string[]
}

/** `refusal`: why the engine cannot be used, and the remedy. */
export type CheckEngine = (address: string) => Promise<EngineCheck | { refusal: string }>
