rem hostcfg: the script of one change on its host.  It stays there as restore.cmd, beside what it needs, and
rem is called by hand (no argument), by the timer (timer) and over a connection (begin, write, confirm, status,
rem undo; the second argument is the nonce of the frames).  Remarks are not sent.
rem
rem No double quote and no percent-name with a modifier stands in it: it goes to the host in pieces, each inside
rem one command line (change_text.pieces).  Exit codes and words of netsh prove nothing: tables are read before
rem and after.
rem
rem In front of it: id by from since revert accept steps tables; for table T: show.T; for step N: table.N (its
rem table), set.N (what netsh gets, up to the value), to.N, want.N (words that the row may show then), back.N.
rem
rem Files beside it: s.STATE (its name is the state, so that a rename decides between two who want to change
rem it), owner, v.T (values before), a.T (values once written), m.N (step N was begun; the
rem row that it changed, 0 where nobody knows, x for none).
@echo off
setlocal enableextensions enabledelayedexpansion
cd /d %~dp0
set nonce=%2
@DATA@
rem The words that a row of a table can end with stay English in every language; all else is left out.
for %%w in (@WORDS@) do set word.%%w=1
if .%1==. goto hand
if .%1==.timer goto timer
echo.
echo @@hostcfg %nonce% begin chcp
chcp
echo @@hostcfg %nonce% end chcp 0
chcp 437 >nul 2>nul
goto %1

:begin
del sent
>owner echo %id% by=%by% from=%from% started=%since%
>NOTE.txt echo To undo hostcfg change %id% by hand, as administrator: !cd!\restore.cmd
>timer.cmd echo @cd /d %%~dp0^& .\restore.cmd timer
>s.preparing echo %id%
if not exist s.preparing set why=space& goto refuse
rem The lock is a directory with one file, named as the change that holds it.  It is never taken away while it
rem counts: who holds it is renamed, and whether it still holds is the state of that change.
cd ..
md %id%.lock
>%id%.lock\%id% echo.
ren %id%.lock lock 2>nul
if not exist %id%.lock goto locked
for %%f in (lock\*) do set holder=%%~nxf
for %%s in (preparing pending restoring) do if exist %holder%\s.%%s set held=%%s
if defined held goto held
ren lock\%holder% %id% 2>nul
if not exist lock\%id% goto held
rd /s /q %id%.lock
:locked
cd %id%
for /l %%t in (1,1,%tables%) do call :first %%t
if %revert%==0 goto armed
call :arm
echo @@hostcfg %nonce% begin timer
echo %how% %revert%
schtasks /query /tn hostcfg-%id% /fo csv /nh 2>&1
echo @@hostcfg %nonce% end timer 0
if not defined how set why=timer& goto refuse
>timer echo %how% %revert%
:armed
ren s.preparing s.pending
if not exist s.pending set why=space& goto refuse
goto state

:held
rd /s /q %id%.lock
echo @@hostcfg %nonce% begin holder
echo %held%
type %holder%\owner
schtasks /query /tn hostcfg-%holder% >nul 2>nul
if not errorlevel 1 echo timer
echo @@hostcfg %nonce% end holder 0
cd %id%
set why=locked
:refuse
>refused echo %why%
call :say refused %why%
goto done
:no
call :say refused %why%
goto state

:first
call :get %1
>v.%1 echo !v!
call :show before.%1 now
goto :eof

rem The task restores once the time is over, and at the next start of a host that lost its power before.
:arm
for %%f in (timer.cmd) do set run=%%~sf
set how=powershell
powershell.exe -NoProfile -NonInteractive -Command Register-ScheduledTask -TaskName hostcfg-%id% -User SYSTEM -RunLevel Highest -Action (New-ScheduledTaskAction -Execute '%run%') -Trigger (New-ScheduledTaskTrigger -Once -At (Get-Date).AddSeconds(%revert%)),(New-ScheduledTaskTrigger -AtStartup) -Settings (New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -StartWhenAvailable) >>log 2>&1
schtasks /query /tn hostcfg-%id% >nul 2>nul
if not errorlevel 1 goto :eof
rem (What New-ScheduledTaskTrigger makes is kept in UTC, with a Z: no time zone and no daylight saving moves it.)
rem Without seconds and by local time: the first whole minute after the time.  Daily, since a date would need the host's format.
set how=schtasks
set hms=!time!
set hms=!hms: =0!
for /f usebackq^ tokens^=1-3^ delims^=:.^, %%a in ('%hms%') do set /a at=(1%%a-100)*60+1%%b-100+(1%%c-100+revert+59)/60
set /a hour=100+at/60%%24
set /a minute=100+at%%60
schtasks /create /tn hostcfg-%id% /tr %run% /sc daily /st !hour:~1!:!minute:~1! /ru SYSTEM /rl HIGHEST /f >nul 2>nul
schtasks /create /tn hostcfg-%id%-boot /tr %run% /sc onstart /ru SYSTEM /rl HIGHEST /f >nul 2>nul
schtasks /query /tn hostcfg-%id% >nul 2>nul
if errorlevel 1 set how=
goto :eof

:write
if not exist ..\lock\%id% set why=lock& goto no
if not exist s.pending set why=state& goto no
schtasks /query /tn hostcfg-%id% >nul 2>nul
if errorlevel 1 if not %revert%==0 set why=timer& goto no
>writing echo.
for /l %%i in (1,1,%steps%) do if not defined stop call :step %%i
for /l %%t in (1,1,%tables%) do call :after %%t
if exist timer call :show timer timer
if defined stop call :say stop !stop!& call :restore remote
del writing
goto state

:step
if not exist s.pending set stop=taken& goto :eof
call :get !table.%1!
set p=!v!
>m.%1 echo 0
if not exist m.%1 set stop=space& goto :eof
echo @@hostcfg %nonce% begin said.%1
netsh interface !set.%1!!to.%1! 2>&1
echo.
echo @@hostcfg %nonce% end said.%1 0
call :get !table.%1!
call :rows
if defined row (>m.%1 echo !row!) else (>m.%1 echo x)
call :show after.%1 now
rem The time ran out while netsh worked: whoever restores may have been here before us.
if not exist s.pending set stop=taken& call :back %1& goto :eof
if %accept%==1 goto :eof
if not defined want.%1 if defined row goto :eof
if defined row for %%w in (!want.%1!) do if /i %%w==!got! goto :eof
set stop=failed
goto :eof

:after
call :get %1
>a.%1 echo !v!
call :show final.%1 now
goto :eof

:confirm
if not exist s.pending set why=state& goto no
for /l %%t in (1,1,%tables%) do call :check %%t
if defined lost if %accept%==0 call :restore remote& set why=overridden& goto no
ren s.pending s.confirmed 2>nul
if not exist s.confirmed set why=state& goto no
call :untimer
set kept=0
for /f %%d in ('dir /b /ad /o-n ..') do call :prune %%d
goto state

:check
call :get %1
call :show final.%1 now
set p=
set /p p=<a.%1
call :rows
if defined row set lost=1
goto :eof

rem The newest five finished backups stay; ids sort by time.
:prune
if not exist ..\%1\owner goto :eof
set final=
for %%s in (confirmed restored failed) do if exist ..\%1\s.%%s set final=1
if not defined final goto :eof
set /a kept+=1
if %kept% gtr 5 rd /s /q ..\%1
goto :eof

:hand
call :restore hand
call :find
echo hostcfg change %id% is now: %state% %bad%
goto :eof

:timer
call :restore timer
goto :eof

:undo
call :find
call :say was %state%
call :restore remote
goto tell
:status
call :find
call :say was %state%
:tell
schtasks /query /tn hostcfg-%id% >nul 2>nul
if not errorlevel 1 call :show timer timer
if exist log call :show log log
:state
call :find
if exist unrestored set /p bad=<unrestored& call :say unrestored !bad!
call :say state %state%
:done
echo @@hostcfg %nonce% done
goto :eof

:find
set state=gone
for %%s in (preparing pending restoring confirmed restored failed) do if exist s.%%s set state=%%s
goto :eof

rem Before-values back, last step first, in up to three passes: one may be refused until another is back.
:restore
if exist s.preparing ren s.preparing s.restored
if exist s.pending ren s.pending s.restoring 2>nul
if %1==hand if exist s.confirmed ren s.confirmed s.restoring
if not %1==timer if exist s.failed ren s.failed s.restoring
if not exist s.restoring goto untimer
set bad=x
for /l %%k in (1,1,3) do if defined bad call :pass %%k
if %1==timer if exist writing call :pass 2
if defined bad (>unrestored echo !bad!& ren s.restoring s.failed 2>nul) else (del unrestored 2>nul& ren s.restoring s.restored 2>nul)
:untimer
schtasks /delete /tn hostcfg-%id% /f >nul 2>nul
schtasks /delete /tn hostcfg-%id%-boot /f >nul 2>nul
goto :eof

:pass
if not %1==1 ping -n 2 127.0.0.1 >nul
set bad=
for /l %%i in (%steps%,-1,1) do if exist m.%%i call :back %%i
goto :eof

:back
if not defined back.%1 goto :eof
netsh interface !set.%1!!back.%1! >>log 2>&1
call :get !table.%1!
set p=
set /p p=<v.!table.%1!
set mark=0
set /p mark=<m.%1
set row=
if !mark!==0 call :rows
if not !mark!==0 if not !mark!==x call :row !mark!
if defined row set bad=!bad! %1
goto :eof

rem v: the values of table %1, from its first row to its last.
:get
netsh interface !show.%1! >now 2>&1
set v=
for /f delims^= %%a in (now) do (
set w=
for %%w in (%%a) do set w=%%w
if defined word.!w! set v=!v! !w!
for /f usebackq^ tokens^=1*^ delims^=0123456789 %%x in ('x!w!') do if .%%x%%y==.x if defined w set v=!v! !w!
)
goto :eof

rem row: the last row in which v differs from p, and got: what v has there.
:rows
set row=
for /l %%j in (1,1,24) do call :row %%j
goto :eof

:row
set x=
set y=
for /f usebackq^ tokens^=%1 %%a in ('%p%') do set x=%%a
for /f usebackq^ tokens^=%1 %%a in ('%v%') do set y=%%a
if not .%x%==.%y% set row=%1& set got=%y%
goto :eof

:show
echo @@hostcfg %nonce% begin %1
type %2
echo.
echo @@hostcfg %nonce% end %1 0
goto :eof

:say
echo @@hostcfg %nonce% begin %1
echo %2 %3 %4 %5 %6 %7 %8 %9
echo @@hostcfg %nonce% end %1 0
goto :eof
