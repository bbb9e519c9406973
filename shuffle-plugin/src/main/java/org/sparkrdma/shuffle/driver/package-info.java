// SPDX-License-Identifier: Apache-2.0
/** Parts of the plug-in that run on the driver; their owner is {@code DriverSide}. */
package org.sparkrdma.shuffle.driver;
