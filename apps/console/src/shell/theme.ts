export type Theme = 'system' | 'light' | 'dark'
const storageKey = 'theme'

/** Runs in <head> before the first paint: applies the stored theme, or the system's. */
export const themeScript = `(function(){try{var t=localStorage.getItem('${storageKey}')}catch(e){}var d=t==='dark'||(t!=='light'&&matchMedia('(prefers-color-scheme: dark)').matches);document.documentElement.dataset.theme=d?'dark':'light'})()`

export function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return stored === 'dark' || stored === 'light' ? stored : 'system'
}

/** Stores and applies a theme. */
export function writeTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, theme)
  applyTheme()
}

/** Applies system theme changes while the theme is "system". Returns the cleanup. */
export function followSystemTheme(): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)')
  media.addEventListener('change', applyTheme)
  return () => media.removeEventListener('change', applyTheme)
}

function applyTheme(): void {
  const theme = readTheme()
  const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}
