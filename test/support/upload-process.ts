import { uploadSnapshot } from '../../src/client/files/index.ts'
import { createClient } from '../../src/client/jobs/client.ts'

/**
 * A child process that uploads a folder, and reports the number of sent bytes and the id of the snapshot to its parent.
 */
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
