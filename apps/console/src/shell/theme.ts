export type Theme = 'system' | 'light' | 'dark'
const key = 'theme'

/** Runs in <head> before anything is painted: what the reader chose, else what the system says. */
export const themeScript = `(function(){try{var t=localStorage.getItem('${key}')}catch(e){}var d=t==='dark'||(t!=='light'&&matchMedia('(prefers-color-scheme: dark)').matches);document.documentElement.dataset.theme=d?'dark':'light'})()`

export function readTheme(): Theme {
  const stored = localStorage.getItem(key)
  return stored === 'dark' || stored === 'light' ? stored : 'system'
}

/** Put the theme on the page and remember it. */
export function writeTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, theme)
  applyTheme()
}

/** Put the right theme on the page, as chosen or as the system says now. */
export function applyTheme(): void {
  const theme = readTheme()
  const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}
