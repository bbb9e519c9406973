// SPDX-License-Identifier: Apache-2.0
/**
 * What registering map outputs does to the pages of their file and to its disk.
 *
 * <p>Entry: {@link org.sparkrdma.guest.pages.RegisterFile}, a program on the packaged plug-in,
 * started by the test beside this package. All on its main thread.
 */
package org.sparkrdma.guest.pages;
