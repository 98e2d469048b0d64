import { checkPage, type Screen } from './check-page.ts'
import { DARK, PHONE, pages } from './pages.ts'

const only: Record<Screen, string[]> = { phone: PHONE, light: pages.map(({ name }) => name), dark: DARK }
const SCREENS = ['phone', 'light', 'dark'] as const

for (const page of pages)
  if (page.scene !== 'large')
    checkPage(
      page,
      SCREENS.filter((screen) => process.env.SHOTS_DIR || only[screen].includes(page.name)),
    )
