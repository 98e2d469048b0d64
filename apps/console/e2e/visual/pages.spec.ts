import { test } from '../fixtures/test.ts'
import { checkPage, SCREENS } from './check-page.ts'
import { DARK, PHONE, pages } from './pages.ts'

const only = { light: pages.map(({ name }) => name), dark: DARK, phone: PHONE }

for (const screen of ['light', 'dark', 'phone'] as const)
  test.describe(screen, () => {
    test.use(SCREENS[screen])
    for (const page of pages)
      if (page.scene !== 'large' && (process.env.SHOTS_DIR || only[screen].includes(page.name))) checkPage(page, screen)
  })
