// SPDX-License-Identifier: Apache-2.0
/**
 * Fails tests that leave something behind: {@link org.sparkrdma.leak.NoLeaks} looks after every
 * test, {@link org.sparkrdma.leak.WatchedEngine} notes who took what of any engine.
 */
package org.sparkrdma.leak;
