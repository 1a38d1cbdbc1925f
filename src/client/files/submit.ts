import type { RequestOptions } from '../connection/connection.ts'
import type { SubmitJobInput } from '../generated/graphql.ts'
import type { Client, SubmitJobAnswer } from '../jobs/client.ts'
import { type UploadOptions, uploadSnapshot } from './snapshot.ts'

export interface HereInput extends SubmitJobInput, Omit<UploadOptions, 'signal'> {
  /** The folder that is copied to the job. */
  here: string
}

/** Uploads a folder and submits a job that runs in a copy of it, like `berth submit --here`. */
export async function submit(
  client: Client,
  { here, include, exclude, cacheFolder, onProgress, ...input }: HereInput,
  options: RequestOptions = {},
): Promise<SubmitJobAnswer> {
  const { signal } = options
  const { id } = await uploadSnapshot(client, here, { include, exclude, cacheFolder, onProgress, signal })
  return client.submit({ ...input, spec: { ...input.spec, snapshot: id } }, options)
}
