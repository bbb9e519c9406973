// SPDX-License-Identifier: Apache-2.0
/**
 * Engines and devices as an executor would find them, for the commands: {@link
 * org.sparkrdma.shuffle.tools.engines.EngineProbe}. It opens a device and closes it again.
 */
package org.sparkrdma.shuffle.tools.engines;
