import { isAbstractType } from 'graphql'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { schema } from '../web/support/schema.ts'
import { adminToken, describeLongConsole, submit } from './support/console.ts'

/** Values for fields that only some members of `Problem` have. */
const details = {
  requiredPermission: 'job.cancel.all',
  violations: [{ path: 'reason', rule: 'MAX_LENGTH', message: 'is too long', value: null }],
  retryable: false,
}

const problem = schema.getType('Problem')
const members = isAbstractType(problem) ? schema.getPossibleTypes(problem).map(({ name }) => name) : []

describeLongConsole('the refusal of an action', (subject) => {
  let server: BerthServer
  beforeAll(async () => {
    server = await subject.startWithUsers('refusals')
  })

  it.each(members)('with %s is shown in the open dialog, which keeps its input', async (member) => {
    const id = await submit(server, 'refused', 'sleep 600', adminToken)
    const context = await subject.openContext({}, { server, token: adminToken })
    const page = await context.newPage()
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('mutation CancelOne')) return route.continue()
      const refusal = { __typename: member, code: 'X', message: `Refused by ${member}.`, ...details }
      return route.fulfill({ json: { data: { cancelJob: refusal } } })
    })
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('textbox').fill('a reason')
    await dialog.getByRole('button', { name: 'Cancel job' }).click()
    await dialog.getByText(`Refused by ${member}.`).waitFor()
    expect(await dialog.getByRole('textbox').inputValue()).toBe('a reason')
    await context.close()
  })
})
