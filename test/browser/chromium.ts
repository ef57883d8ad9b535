import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { folderOf, type Needed } from '../postgres/programs.ts'

const NEEDED: Needed = {
  programs: ['chromium'],
  folders: ['/usr/bin', '/opt/homebrew/bin'],
  package: 'chromium',
  advice:
    'these tests need a real Chromium: install one (Debian: apt-get install -y chromium) or put chromium in PATH',
}

/** Starts a real browser, without a window. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: join(folderOf(NEEDED), 'chromium'),
    // Its sandbox does not work for root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
