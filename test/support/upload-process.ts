import { uploadSnapshot } from '../../src/client/files/index.ts'
import { createClient } from '../../src/client/jobs/client.ts'

/** A process that sends a folder, and tells its parent the bytes that were sent, and the id of the snapshot. */
const [url = '', folder = ''] = process.argv.slice(2)
const client = createClient({ url })
const { id, newFiles } = await uploadSnapshot(client, folder, {
  onProgress: ({ step, bytes }) => {
    if (step === 'SENDING') process.send?.({ bytes })
  },
})
await client.close()
process.send?.({ id, newFiles })
process.disconnect?.()
