import { createClusters } from '../fixtures/scenes/slurm.ts'
import { expect, test } from '../fixtures/test.ts'
import { clusterUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

test('creates, changes and deletes reservations, cancels the jobs of a user, and changes limits and features', async ({
  page,
  createFleet,
  signIn,
}) => {
  const fleet = await createFleet({ nodes: 10 })
  const { current } = await createClusters(fleet)
  await signIn(fleet.admin)
  const dialog = page.getByRole('dialog')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const field = (label: string) => dialog.getByLabel(new RegExp(`^${label}(${t('common.optional')})?$`))
  const command = (text: string | RegExp) => dialog.locator('code').filter({ hasText: text })
  const choose = async (menu: string, verb: string) => {
    await button(menu).click()
    await page.getByRole('menuitem', { name: verb, exact: true }).click()
  }
  const start = async (name: string) => {
    await expect(dialog.getByRole('button', { name, exact: true })).toHaveAttribute('aria-disabled', 'true')
    await field(t('slurmAction.reason')).fill('cooling loop 3')
    await dialog.getByRole('button', { name, exact: true }).click()
    await expect(dialog.getByTestId('slurm-action')).toHaveAttribute('data-status', 'PENDING')
  }
  const close = () =>
    dialog
      .getByRole('button', { name: t('common.close'), exact: true })
      .last()
      .click()

  await page.goto(`${clusterUrl(current)}?tab=reservations`)
  await button(t('slurmVerb.CREATE_RESERVATION')).click()
  await expect(dialog.getByText(t('slurmReservation.needFields'), { exact: true })).toBeVisible()
  await field(t('slurmReservation.name')).fill('two words')
  await field(t('slurm.nodes')).fill('gpu[00001-00002]')
  await field(t('slurmReservation.duration')).fill('120')
  await field(t('slurmReservation.users')).fill('ada, grace')
  await field(t('slurmReservationFlag.MAINT')).check()
  await expect(dialog.getByRole('alert')).toContainText('"two words"')
  await field(t('slurmReservation.name')).fill('cooling')
  await field(t('slurmReservation.start')).fill('2031-05-01T08:30')
  await expect(
    command(/reservationname=cooling starttime=uts\d+ duration=120 nodes=gpu00001,gpu00002 users=ada,grace flags=MAINT$/),
  ).toBeVisible()
  await start(t('slurmVerb.CREATE_RESERVATION'))
  await close()

  const name = 'maintenance-of-the-cooling-loop'
  await choose(t('slurmAction.actions'), t('slurmVerb.UPDATE_RESERVATION'))
  await expect(dialog.getByText(t('slurmAction.needChange'), { exact: true })).toBeVisible()
  await field(t('slurmReservation.duration')).fill('45')
  await expect(command(new RegExp(`update reservationname=${name} duration=45$`))).toBeVisible()
  await page.keyboard.press('Escape')
  await choose(t('slurmAction.actions'), t('slurmVerb.DELETE_RESERVATION'))
  await start(t('slurmAction.startNamed', { verb: t('slurmVerb.DELETE_RESERVATION'), name }))
  await expect(dialog.getByRole('listitem')).toContainText(name)
  await close()

  // 30 of the 90 jobs are of this user, and 6 of those are in the partition.
  await page.getByRole('tab', { name: new RegExp(`^${t('slurm.jobs')}`) }).click()
  await choose(t('slurmAction.bulk'), t('slurmVerb.CANCEL_JOBS'))
  await expect(dialog.getByText(t('slurmAction.needCondition'), { exact: true })).toBeVisible()
  await field(t('slurmJob.user')).fill('grace')
  await expect(button(t('slurmAction.start', { verb: t('slurmVerb.CANCEL_JOBS'), count: 30 }))).toBeVisible()
  await field(t('slurmJob.partition')).selectOption('short')
  await start(t('slurmAction.start', { verb: t('slurmVerb.CANCEL_JOBS'), count: 6 }))
  await expect(dialog.getByRole('listitem')).toHaveCount(6)
  await close()

  await page.getByRole('checkbox', { name: t('nodes.select', { name: '4089' }) }).check()
  await choose(t('slurmAction.actions'), t('slurmVerb.UPDATE_JOBS'))
  await expect(dialog.getByText(t('slurmAction.needChange'), { exact: true })).toBeVisible()
  await field(t('slurmAction.timeLimit')).fill('60')
  await expect(command('timelimit=60')).toBeVisible()
  await field(t('slurmAction.unlimited')).check()
  await expect(command(/timelimit=unlimited/i)).toBeVisible()
  await page.keyboard.press('Escape')

  await page.getByRole('tab', { name: t('slurm.nodes') }).click()
  await choose(t('slurmAction.bulk'), t('slurmVerb.UPDATE_NODES'))
  await field(t('slurm.nodes')).fill('gpu00003')
  await field(t('slurmNode.features')).fill('h100, nvlink')
  await field(t('slurmNode.weight')).fill('7')
  await expect(command(/nodename=gpu00003 .*features=h100,nvlink.* weight=7/i)).toBeVisible()
})
