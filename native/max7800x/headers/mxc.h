/* Stands for the header of this name in the manufacturer's software: the few names of it that generated programs use.
 * With it they run unchanged where there is no such chip, on the model of the accelerator: see chip.c.
 *
 * Generated programs reach the accelerator through CNN_WRITE, CNN_WRITE_BYTE and CNN_READ. They define them as plain
 * accesses where nobody did before; here they lead into the model. */
#ifndef LATHE_MAX7800X_MXC_H
#define LATHE_MAX7800X_MXC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the accelerator --- */
void lathe_chip_write(uint32_t address, uint32_t value);
void lathe_chip_write_byte(uint32_t address, uint8_t value);
uint32_t lathe_chip_read(uint32_t address);

#define CNN_WRITE(address, value) lathe_chip_write((uint32_t)(address), (uint32_t)(value))
#define CNN_WRITE_BYTE(address, value) lathe_chip_write_byte((uint32_t)(address), (uint8_t)(value))
#define CNN_READ(address) lathe_chip_read((uint32_t)(address))

/* --- interrupts, and waiting for one: that is when the model computes --- */
typedef enum { CNN_IRQn = 0, RISCV_IRQn = 1 } IRQn_Type;

void MXC_NVIC_SetVector(IRQn_Type number, void (*handler)(void));
void NVIC_SetVector(IRQn_Type number, void (*handler)(void));
void NVIC_EnableIRQ(IRQn_Type number);
void NVIC_DisableIRQ(IRQn_Type number);
void NVIC_ClearPendingIRQ(IRQn_Type number);
void NVIC_EnableEVENT(IRQn_Type number);
void NVIC_ClearPendingEVENT(IRQn_Type number);
void lathe_chip_wait(void);
void lathe_chip_mask_interrupts(int masked);
#define __WFI() lathe_chip_wait()
#define CNN_WAIT() lathe_chip_wait() /* where programs do not sleep, or have no function for it */
#define __enable_irq() lathe_chip_mask_interrupts(0)
#define __disable_irq() lathe_chip_mask_interrupts(1)
#define MXC_LP_EnterSleepMode() lathe_chip_wait()
#define MXC_LP_EnterLowPowerMode() lathe_chip_wait()

/* --- power of the accelerator's quadrants --- */
typedef struct {
  volatile uint32_t reg0; /* powered */
  volatile uint32_t reg1; /* memories powered */
  volatile uint32_t reg2; /* isolated */
  volatile uint32_t reg3; /* held in reset */
} mxc_gcfr_regs_t;
extern mxc_gcfr_regs_t lathe_chip_power;
#define MXC_GCFR (&lathe_chip_power)

/* --- clocks --- */
typedef struct {
  volatile uint32_t pclkdiv;
  volatile uint32_t pclkdis0;
  volatile uint32_t ipll_ctrl; /* of the MAX78002 */
} mxc_gcr_regs_t;
extern mxc_gcr_regs_t lathe_chip_clocks;
#define MXC_GCR (&lathe_chip_clocks)

#define MXC_F_GCR_PCLKDIV_CNNCLKDIV (7u << 14)
#define MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV2 (0u << 14)
#define MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV4 (1u << 14)
#define MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV8 (2u << 14)
#define MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV16 (3u << 14)
#define MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV1 (4u << 14)
#define MXC_F_GCR_PCLKDIV_CNNCLKSEL (3u << 17)
#define MXC_S_GCR_PCLKDIV_CNNCLKSEL_PCLK (0u << 17)
#define MXC_S_GCR_PCLKDIV_CNNCLKSEL_ISO (1u << 17)
#define MXC_S_GCR_PCLKDIV_CNNCLKSEL_IPLL (3u << 17)
#define MXC_F_GCR_PCLKDIS0_CNN (1u << 25)
#define MXC_F_GCR_IPLL_CTRL_EN (1u << 0)
#define MXC_F_GCR_IPLL_CTRL_RDY (1u << 1)

typedef enum { MXC_SYS_PERIPH_CLOCK_CNN, MXC_SYS_PERIPH_CLOCK_SMPHR, MXC_SYS_PERIPH_CLOCK_CPU1 } mxc_sys_periph_clock_t;
typedef enum { MXC_SYS_CLOCK_IPO, MXC_SYS_CLOCK_ISO, MXC_SYS_CLOCK_IPLL } mxc_sys_system_clock_t;
int MXC_SYS_Clock_Select(mxc_sys_system_clock_t clock);
int MXC_SYS_ClockSourceEnable(mxc_sys_system_clock_t clock);
void MXC_SYS_ClockEnable(mxc_sys_periph_clock_t clock);
void MXC_SYS_ClockDisable(mxc_sys_periph_clock_t clock);
void SystemCoreClockUpdate(void);
extern uint32_t SystemCoreClock;

typedef struct {
  uint32_t unused;
} mxc_icc_regs_t;
extern mxc_icc_regs_t lathe_chip_cache;
#define MXC_ICC0 (&lathe_chip_cache)
#define MXC_ICC1 (&lathe_chip_cache)
void MXC_ICC_Enable(mxc_icc_regs_t* cache);

/* --- the other core: it is there in name only --- */
typedef struct {
  volatile uint32_t lppwen;
} mxc_pwrseq_regs_t;
typedef struct {
  volatile uint32_t urvbootaddr;
  volatile uint32_t urvctrl;
} mxc_fcr_regs_t;
typedef struct {
  volatile uint32_t irq0;
} mxc_sema_regs_t;
extern mxc_pwrseq_regs_t lathe_chip_wakers;
extern mxc_fcr_regs_t lathe_chip_functions;
extern mxc_sema_regs_t lathe_chip_semaphores;
#define MXC_PWRSEQ (&lathe_chip_wakers)
#define MXC_FCR (&lathe_chip_functions)
#define MXC_SEMA (&lathe_chip_semaphores)
#define MXC_F_PWRSEQ_LPPWEN_CPU1 (1u << 10)
#define MXC_F_SEMA_IRQ0_EN (1u << 0)
#define MXC_F_SEMA_IRQ0_CM4_IRQ (1u << 16)

/* --- time, which the model does not have: whatever is measured took one microsecond --- */
typedef struct {
  uint32_t unused;
} mxc_tmr_regs_t;
extern mxc_tmr_regs_t lathe_chip_timer;
#define MXC_TMR0 (&lathe_chip_timer)
#define MXC_TMR1 (&lathe_chip_timer)
#define MXC_TMR2 (&lathe_chip_timer)
#define MXC_TMR3 (&lathe_chip_timer)
void MXC_TMR_SW_Start(mxc_tmr_regs_t* timer);
unsigned int MXC_TMR_SW_Stop(mxc_tmr_regs_t* timer);
int MXC_Delay(uint32_t microseconds);
#define SEC(seconds) ((uint32_t)(seconds) * 1000000u)
#define MSEC(milliseconds) ((uint32_t)(milliseconds) * 1000u)
#define MXC_DELAY_SEC(seconds) SEC(seconds)
#define MXC_DELAY_MSEC(milliseconds) MSEC(milliseconds)

/* --- pins: of boost circuits, lights and measurements --- */
typedef struct {
  uint32_t unused;
} mxc_gpio_regs_t;
extern mxc_gpio_regs_t lathe_chip_pins;
#define MXC_GPIO0 (&lathe_chip_pins)
#define MXC_GPIO1 (&lathe_chip_pins)
#define MXC_GPIO2 (&lathe_chip_pins)
#define MXC_GPIO3 (&lathe_chip_pins)
typedef enum { MXC_GPIO_FUNC_IN, MXC_GPIO_FUNC_OUT } mxc_gpio_func_t;
typedef enum { MXC_GPIO_PAD_NONE } mxc_gpio_pad_t;
typedef enum { MXC_GPIO_VSSEL_VDDIO, MXC_GPIO_VSSEL_VDDIOH } mxc_gpio_vssel_t;
typedef enum { MXC_GPIO_DRVSTR_0 } mxc_gpio_drvstr_t;
typedef struct {
  mxc_gpio_regs_t* port;
  uint32_t mask;
  mxc_gpio_func_t func;
  mxc_gpio_pad_t pad;
  mxc_gpio_vssel_t vssel;
  mxc_gpio_drvstr_t drvstr;
} mxc_gpio_cfg_t;
#define MXC_GPIO_PIN_0 (1u << 0)
#define MXC_GPIO_PIN_1 (1u << 1)
#define MXC_GPIO_PIN_2 (1u << 2)
#define MXC_GPIO_PIN_3 (1u << 3)
#define MXC_GPIO_PIN_4 (1u << 4)
#define MXC_GPIO_PIN_5 (1u << 5)
#define MXC_GPIO_PIN_6 (1u << 6)
#define MXC_GPIO_PIN_7 (1u << 7)
#define MXC_GPIO_PIN_8 (1u << 8)
#define MXC_GPIO_PIN_9 (1u << 9)
#define MXC_GPIO_PIN_10 (1u << 10)
#define MXC_GPIO_PIN_11 (1u << 11)
#define MXC_GPIO_PIN_12 (1u << 12)
#define MXC_GPIO_PIN_13 (1u << 13)
#define MXC_GPIO_PIN_14 (1u << 14)
#define MXC_GPIO_PIN_15 (1u << 15)
#define MXC_GPIO_PIN_16 (1u << 16)
#define MXC_GPIO_PIN_17 (1u << 17)
#define MXC_GPIO_PIN_18 (1u << 18)
#define MXC_GPIO_PIN_19 (1u << 19)
#define MXC_GPIO_PIN_20 (1u << 20)
#define MXC_GPIO_PIN_21 (1u << 21)
#define MXC_GPIO_PIN_22 (1u << 22)
#define MXC_GPIO_PIN_23 (1u << 23)
#define MXC_GPIO_PIN_24 (1u << 24)
#define MXC_GPIO_PIN_25 (1u << 25)
#define MXC_GPIO_PIN_26 (1u << 26)
#define MXC_GPIO_PIN_27 (1u << 27)
#define MXC_GPIO_PIN_28 (1u << 28)
#define MXC_GPIO_PIN_29 (1u << 29)
#define MXC_GPIO_PIN_30 (1u << 30)
#define MXC_GPIO_PIN_31 (1u << 31)
int MXC_GPIO_Config(const mxc_gpio_cfg_t* configuration);
void MXC_GPIO_OutSet(mxc_gpio_regs_t* port, uint32_t mask);
void MXC_GPIO_OutClr(mxc_gpio_regs_t* port, uint32_t mask);
int Debug_Init(void); /* of the RISC-V core's JTAG */
int LED_Init(void);
void LED_On(unsigned int number);
void LED_Off(unsigned int number);

#ifdef __cplusplus
}
#endif

#endif
