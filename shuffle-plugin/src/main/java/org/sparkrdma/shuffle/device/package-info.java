// SPDX-License-Identifier: Apache-2.0
/**
 * What the shuffle does on a device, by what the device can do. Entry class {@link
 * org.sparkrdma.shuffle.device.DeviceFitness}.
 */
package org.sparkrdma.shuffle.device;
