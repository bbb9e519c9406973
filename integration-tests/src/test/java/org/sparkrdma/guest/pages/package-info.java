// SPDX-License-Identifier: Apache-2.0
/**
 * Effect of registration on the pages of a map output and on its disk.
 *
 * <p>Entry: {@link org.sparkrdma.guest.pages.RegisterFile}, a program on the packaged plug-in,
 * started by the test beside this package. Uses only its main thread.
 */
package org.sparkrdma.guest.pages;
