// SPDX-License-Identifier: Apache-2.0
/**
 * Fails tests that leave something behind: {@link org.sparkrdma.leak.NoLeaks} looks after every
 * test, {@link org.sparkrdma.leak.WatchedEngine} records which code acquired each object of any
 * engine. {@link org.sparkrdma.leak.TimeLimits} ends a test that does not end itself.
 */
package org.sparkrdma.leak;
